/** Stand-ins of vendors' services, for tests. */

export * from './stand-in.ts'
export * from './vendor.ts'

/** Stand-ins of vendors' services, for tests. */

export type { Fault, StandInAnswer, StandInRequest } from './faults.ts'
export * from './stand-in.ts'
export * from './vendor.ts'

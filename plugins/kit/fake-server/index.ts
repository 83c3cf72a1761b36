/** The fake servers that channels are tested against. */

export type { FakeServerAnswer, FakeServerRequest, Fault } from './faults.ts'
export * from './server.ts'
export * from './vendor.ts'

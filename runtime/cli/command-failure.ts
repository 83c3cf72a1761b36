/** The error by which a command ends with a message and an exit code. */

import type { StoreError } from '../store/port.ts'

/** 1: the command ran and found a problem. 2: its arguments cannot be understood. */
export type FailureCode = 1 | 2

/** The message is written for the operator and never holds a secret. */
export class CommandFailure extends Error {
  readonly exitCode: FailureCode

  constructor(exitCode: FailureCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CommandFailure'
    this.exitCode = exitCode
  }
}

/** The message of the store, and what can be done about it. */
export function storeFailure(error: StoreError): CommandFailure {
  const fix = error.fix === undefined ? '' : ` ${error.fix}`
  return new CommandFailure(1, `${sentence(error.message)}${fix}`, { cause: error })
}

/** Makes a sentence of a clause; the store's errors are clauses, since log lines append them to others. */
export function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`
}

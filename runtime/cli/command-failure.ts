/** The error by which a command ends with a message and an exit code. */

import type { StoreError } from '../store/port.ts'

/** The message is written for the operator and never holds a secret. */
export class CommandFailure extends Error {
  readonly exitCode: 1 | 2

  constructor(exitCode: 1 | 2, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CommandFailure'
    this.exitCode = exitCode
  }
}

/** The command ran and found a problem. */
export function failure(message: string, options?: ErrorOptions): CommandFailure {
  return new CommandFailure(1, message, options)
}

/** The arguments cannot be understood. */
export function badUsage(message: string, options?: ErrorOptions): CommandFailure {
  return new CommandFailure(2, message, options)
}

/** The message of the store, and what can be done about it. */
export function storeFailure(error: StoreError): CommandFailure {
  const fix = error.fix === undefined ? '' : ` ${error.fix}`
  return failure(`${sentence(error.message)}${fix}`, { cause: error })
}

/** Makes a sentence of a clause; the store's errors are clauses, since log lines append them to others. */
export function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`
}

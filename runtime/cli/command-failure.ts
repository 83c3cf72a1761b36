/** Owns the one error that a command ends with on purpose. */

/** 1: the command ran and found a problem. 2: it was asked in a way that it does not understand. */
export type FailureCode = 1 | 2

/** The message is for the operator and never holds a secret. */
export class CommandFailure extends Error {
  readonly exitCode: FailureCode

  constructor(exitCode: FailureCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CommandFailure'
    this.exitCode = exitCode
  }
}

/** The store words its errors as clauses, which log lines put behind others; a command ends with a sentence. */
export function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`
}

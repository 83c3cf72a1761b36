/** Owns what is wrong with a request file: one sentence with its place, which quotes nothing of the file. */

export class RequestFault extends Error {
  override readonly name = 'RequestFault'
  /** From 1. */
  readonly line: number
  readonly column: number

  constructor(line: number, column: number, message: string) {
    super(message)
    this.line = line
    this.column = column
  }

  static at(offset: number, text: string, message: string): RequestFault {
    const before = text.slice(0, offset)
    const line = before.split('\n').length
    return new RequestFault(line, offset - before.lastIndexOf('\n'), message)
  }
}

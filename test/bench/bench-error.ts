/** Thrown where the message alone says what to do. */
export class BenchError extends Error {
  override readonly name = 'BenchError'
}

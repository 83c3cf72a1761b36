/** A map of bounded size, which forgets its oldest entries. */

export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #maxSize: number

  /** Creates a map that holds at most so many entries. */
  constructor(maxSize: number) {
    super()
    this.#maxSize = maxSize
  }

  override set(key: Key, value: Value): this {
    super.set(key, value)
    for (const first of this.keys()) {
      if (this.size <= this.#maxSize) break
      this.delete(first)
    }
    return this
  }
}

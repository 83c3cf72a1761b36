/** A map of bounded size, which forgets its oldest entries. */

export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #most: number

  /** Creates a map that holds at most so many entries. */
  constructor(most: number) {
    super()
    this.#most = most
  }

  override set(key: Key, value: Value): this {
    super.set(key, value)
    for (const first of this.keys()) {
      if (this.size <= this.#most) break
      this.delete(first)
    }
    return this
  }
}

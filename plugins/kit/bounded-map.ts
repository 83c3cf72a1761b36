/** Owns a memory that does not grow for ever: of more than it may hold, what was put in first is forgotten. */

export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #most: number

  /** `most`: entries. */
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

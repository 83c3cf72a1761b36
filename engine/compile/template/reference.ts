/** A reference is a value that a template or an expression reads, by its place in the request. */

export interface Reference {
  /** A reserved name (`vars`, `headers`, …), or `payload`. */
  readonly root: string
  /** The steps below the root. A list on the way stands for its elements. */
  readonly steps: readonly string[]
  /** The offset in the field's text, in UTF-16 units. */
  readonly offset: number
  /** True if the author expects it to be absent at times: it is asked for by a condition, or has a default. */
  readonly isOptional?: true
}

/** A step to any value of a list or an object. */
export const anyStep = '*'

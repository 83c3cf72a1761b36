/** Owns the reference: a value that a template or an expression reads, by where it stands in the request. */

export interface Reference {
  /** One of our names (`vars`, `headers`, …), or the payload. */
  readonly root: string
  /** Below the root. A list on the way means its elements. */
  readonly steps: readonly string[]
  /** In the field's text, in UTF-16 units. */
  readonly offset: number
}

/** A step to any value below: that of a list or that of an object. */
export const anyStep = '*'

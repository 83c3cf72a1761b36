/** Owns the patterns of `match.body`: from what the author wrote to a tree of tests. */

export type Scalar = string | number | boolean | null

/** Where the payload holds a list, any of its elements may satisfy a pattern. */
export type BodyPattern =
  | { readonly kind: 'equals'; readonly value: Scalar }
  | { readonly kind: 'any'; readonly of: readonly BodyPattern[] }
  /** All of them must hold, of one value. */
  | { readonly kind: 'operators'; readonly tests: readonly OperatorTest[] }
  | { readonly kind: 'keys'; readonly keys: ReadonlyMap<string, BodyPattern> }

export type OperatorTest =
  | { readonly kind: 'exists'; readonly wanted: boolean }
  | { readonly kind: 'prefix'; readonly text: string }
  | { readonly kind: 'suffix'; readonly text: string }
  | { readonly kind: 'anything-but'; readonly values: readonly Scalar[] }
  | { readonly kind: 'numeric'; readonly bounds: readonly NumericBound[] }
  | { readonly kind: 'pattern'; readonly source: string }

export interface NumericBound {
  readonly operator: '=' | '!=' | '<' | '<=' | '>' | '>='
  readonly value: number
}

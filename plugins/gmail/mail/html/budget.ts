/** Owns how much of one mail's HTML is looked at, over all of its parts. */

export interface Budget {
  /** Characters that may still be passed on. */
  characters: number
  /** Tags and attributes that may still be read. */
  steps: number
  /** Elements that may still be passed on. */
  elements: number
}

/** Describes the markup of a chat surface. */

import type { Table } from './align-table.ts'
import type { Inline } from './tree.ts'

/**
 * The surroundings of a piece of a line. `before` and `after` are one character each, empty at the ends of the line; if markup
 * follows, `after` is its first character.
 */
export interface InlineContext {
  readonly before: string
  readonly after: string
  /** Up to 16 characters that follow the piece, without markup, as far as they are known. */
  readonly rest?: string
  /** True if the piece is inside another mark. */
  readonly isInMark?: boolean
  /** True if the piece is inside the label of a link. */
  readonly isInLink: boolean
}

export type Mark = 'strong' | 'emphasis' | 'strike'

export interface ItemMarker {
  /** The item's number; undefined for bullets. */
  readonly number?: number
  /** True if an item of a task list is done. */
  readonly checked?: boolean
  /** Nesting depth of the item's list; 0 for one that is not nested. */
  readonly depth: number
}

/**
 * Writes the parts of a tree as one surface's markup. `inner` is markup already, and `text` is what a person reads. Inside a
 * mark, `inner` has no white space at its ends and no mark of the same kind.
 */
export interface Dialect {
  /** Writes text, with everything neutralised that would be markup or a mention. */
  text(text: string, place: InlineContext): string
  /** True if the surface would parse marks around this; otherwise the text is written without them. Default: always. */
  canMark?(inner: string, mark: Mark, place: InlineContext): boolean
  strong(inner: string, place: InlineContext): string
  emphasis(inner: string, place: InlineContext): string
  strike(inner: string, place: InlineContext): string
  code(text: string, place: InlineContext): string
  /** `isBare` means that the label equals the address. */
  link(inner: string, address: string, isBare: boolean, place: InlineContext): string
  image(description: string, address: string, place: InlineContext): string
  /** The end of a line inside a paragraph. */
  readonly lineBreak: string
  /** Writes a whole paragraph, for markup that only counts at the start of a line. Default: as it is. */
  paragraph?(inner: string): string
  heading(inner: string, level: number): string
  codeBlock(text: string, language: string): string
  /** `inner` may have several lines. */
  quote(inner: string): string
  /** Writes one item with its marker. `inner` may have several lines, of which this function indents all but the first. */
  item(inner: string, marker: ItemMarker): string
  table(table: Table, write: (cell: readonly Inline[]) => string): string
  readonly rule: string
}

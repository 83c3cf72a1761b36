/** Owns what a chat surface's markup is made of. */

import type { Block, Inline } from './tree.ts'

/**
 * What stands beside a piece of a line. `before` and `after` are one character each, empty at the line's ends; where markup
 * follows, the first character of it.
 */
export interface Place {
  readonly before: string
  readonly after: string
  /** Up to 16 characters after it, as far as they are known: text as it will be read, with no marks around it. */
  readonly rest?: string
  /** Within another mark. */
  readonly isInMark?: boolean
  /** Within the label of a link. */
  readonly isInLink: boolean
}

export type Mark = 'strong' | 'emphasis' | 'strike'

export interface ItemMarker {
  /** Undefined for bullets. */
  readonly number?: number
  /** Of a task list. */
  readonly checked?: boolean
  /** 0 for the items of a list that lies in no other. */
  readonly depth: number
  /** The list follows another of its kind, and would be taken for the same one. */
  readonly isApart?: boolean
}

/**
 * How one surface writes what the tree says. `inner` is markup already; `text` is what a person shall read. Of the
 * marks, `inner` has no white space at its ends and no mark of the same kind in it.
 */
export interface Dialect {
  /** With all that would be markup, or would call somebody, made harmless. */
  text(text: string, place: Place): string
  /** Whether marks would be taken for marks around this; if not, what they mark is written without them. Default: always. */
  takesMarks?(inner: string, mark: Mark, place: Place): boolean
  strong(inner: string, place: Place): string
  emphasis(inner: string, place: Place): string
  strike(inner: string, place: Place): string
  code(text: string, place: Place): string
  /** `isBare`: the label says what the address says. */
  link(inner: string, address: string, isBare: boolean, place: Place): string
  image(description: string, address: string, place: Place): string
  /** A line's end inside a paragraph. */
  readonly lineBreak: string
  /** A whole paragraph; for markup that only counts at the beginning of a line. Default: as it is. */
  paragraph?(inner: string): string
  heading(inner: string, level: number): string
  codeBlock(text: string, language: string): string
  /** `inner` may have several lines. */
  quote(inner: string): string
  /** One item, its marker included; `inner` may have several lines, those after the first are to be indented here. */
  item(inner: string, marker: ItemMarker): string
  table(table: Extract<Block, { type: 'table' }>, write: (cell: readonly Inline[]) => string): string
  readonly rule: string
}

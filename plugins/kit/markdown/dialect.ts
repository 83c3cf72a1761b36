/** Owns what a chat surface's markup is made of. */

import type { Block, Inline } from './tree.ts'

/** How one surface writes what the tree says. `inner` is markup already; `text` is what a person shall read. */
export interface Dialect {
  /** With all that would be markup, or would call somebody, made harmless. */
  text(text: string): string
  strong(inner: string): string
  emphasis(inner: string): string
  strike(inner: string): string
  code(text: string): string
  /** `isBare`: the label says what the address says. */
  link(inner: string, address: string, isBare: boolean): string
  image(description: string, address: string): string
  /** A line's end inside a paragraph. */
  readonly lineBreak: string
  heading(inner: string, level: number): string
  codeBlock(text: string, language: string): string
  /** `inner` may have several lines. */
  quote(inner: string): string
  /** One item, its marker included; `inner` may have several lines, those after the first are to be indented here. */
  item(
    inner: string,
    marker: { readonly number?: number; readonly checked?: boolean; readonly depth: number },
  ): string
  table(table: Extract<Block, { type: 'table' }>, write: (cell: readonly Inline[]) => string): string
  readonly rule: string
}

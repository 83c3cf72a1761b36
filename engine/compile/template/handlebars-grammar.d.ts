/**
 * Declares the types of the part of Handlebars that is only its grammar, without a renderer and without hooks into
 * `require`.
 */

declare module 'handlebars/dist/cjs/handlebars/compiler/base.js' {
  /** Returns the syntax tree that grammar.ts describes. */
  export function parse(source: string): unknown
  export const parser: {
    readonly lexer: { readonly yylloc: { readonly first_line: number; readonly first_column: number } }
  }
}

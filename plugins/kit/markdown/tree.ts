/** Owns what Markdown can say, free of how it was written: the tree between the parser and the dialects. */

export type Inline =
  /** What a person reads: no escapes, no entities. */
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'strong' | 'emphasis' | 'strike'; readonly children: readonly Inline[] }
  | { readonly type: 'code'; readonly text: string }
  /** `address` is one that `safeAddress` let pass. */
  | { readonly type: 'link'; readonly address: string; readonly children: readonly Inline[] }
  | { readonly type: 'image'; readonly address: string; readonly description: string }
  | { readonly type: 'break' }

export type Block =
  | { readonly type: 'paragraph'; readonly children: readonly Inline[] }
  | { readonly type: 'heading'; readonly level: number; readonly children: readonly Inline[] }
  | { readonly type: 'code'; readonly language: string; readonly text: string }
  | { readonly type: 'quote'; readonly blocks: readonly Block[] }
  | {
      readonly type: 'list'
      /** The number of the first item; undefined for bullets. */
      readonly start: number | undefined
      readonly items: readonly ListItem[]
    }
  | {
      readonly type: 'table'
      readonly align: readonly ('left' | 'right' | 'center' | undefined)[]
      readonly head: readonly (readonly Inline[])[]
      readonly rows: readonly (readonly (readonly Inline[])[])[]
    }
  | { readonly type: 'rule' }

export interface ListItem {
  /** Of a task list. */
  readonly checked?: boolean
  readonly blocks: readonly Block[]
}

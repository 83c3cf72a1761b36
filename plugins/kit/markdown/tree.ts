/** Defines the tree of a reply, and reads its text. */

export type Inline =
  /** The text that a person reads, without escapes and entities. */
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'strong' | 'emphasis' | 'strike'; readonly children: readonly Inline[] }
  | { readonly type: 'code'; readonly text: string }
  /** The address is one that `safeAddress` accepts. */
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
  /** True if an item of a task list is done. */
  readonly checked?: boolean
  /** True if the item began in the message before. */
  readonly isContinued?: boolean
  readonly blocks: readonly Block[]
}

/**
 * Returns the text of a tree, with each block, item, row and line of code on its own line and a space between cells. Markers,
 * rules and the addresses of links are left out.
 */
export function readText(blocks: readonly Block[]): string {
  const lines: string[] = []
  gather(blocks, lines)
  return lines.join('\n')
}

export function readInlines(inlines: readonly Inline[]): string {
  let text = ''
  for (const each of inlines) {
    switch (each.type) {
      case 'text':
      case 'code':
        text += each.text
        break
      case 'image':
        text += each.description
        break
      case 'break':
        text += '\n'
        break
      default:
        text += readInlines(each.children)
    }
  }
  return text
}

function gather(blocks: readonly Block[], lines: string[]): void {
  for (const block of blocks) {
    switch (block.type) {
      case 'paragraph':
      case 'heading':
        lines.push(readInlines(block.children))
        break
      case 'code':
        lines.push(block.text)
        break
      case 'quote':
        gather(block.blocks, lines)
        break
      case 'list':
        for (const item of block.items) gather(item.blocks, lines)
        break
      case 'table':
        for (const row of [block.head, ...block.rows]) lines.push(row.map(readInlines).join(' '))
    }
  }
}

/** Owns the text of a tree: what a person reads, free of markup. */

import type { Block, Inline } from './tree.ts'

/**
 * Blocks, items, rows and code lines each on a line of their own, cells apart by a space. Markers, rules, and addresses of
 * links are not in it.
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

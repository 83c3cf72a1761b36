/** Reads Slack's Markdown and its older mrkdwn as a person sees them. */

import { readMarkdown as read } from '@reveille/kit/fake-server'

const autolink = /^<((?:https?:\/\/|mailto:|tel:)[^\s<>]*|[^\s<>@]+@[^\s<>@]+)>/

export function readMarkdown(source: string): string {
  return read(source, {
    hasHeadings: true,
    special(rest) {
      const [whole, text = ''] = autolink.exec(rest) ?? []
      return whole === undefined ? undefined : { whole, text }
    },
  })
}

/** No mark begins after a letter, a digit or U+2060, and none ends before one. */
const noEdgeBefore = '(?<![\\p{L}\\p{N}\\u2060])'
const noEdgeAfter = '(?![\\p{L}\\p{N}\\u2060])'
const span = new RegExp(`${noEdgeBefore}\`([^\`]+)\`${noEdgeAfter}`, 'u')
const marks = new RegExp(`${noEdgeBefore}([*_~])(?=\\S)((?:(?!\\1).)+?)(?<=\\S)\\1${noEdgeAfter}`, 'gu')

export function readMrkdwn(source: string): string {
  // Every second piece is code.
  const pieces = source.split(/```\n?/)
  return pieces
    .map((piece, index) => (index % 2 === 1 ? readEntities(brackets(piece)) : readLines(piece)))
    .join('')
}

function readLines(text: string): string {
  return text.split('\n').map(readLine).join('\n')
}

function readLine(line: string): string {
  const pieces = line.replace(/^(?:>|&gt;) ?/, '').split(span)
  return pieces
    .map((piece, index) => readEntities(brackets(index % 2 === 1 ? piece : unmark(piece))))
    .join('')
}

/** Removes marks, which are at the edges of words and never inside brackets. */
function unmark(text: string): string {
  const pieces = text.split(/(<[^<>]*>)/)
  let rest = pieces.map((piece, index) => (index % 2 === 1 ? `\ue000${index}\ue001` : piece)).join('')
  for (let before = ''; before !== rest; ) {
    before = rest
    rest = rest.replaceAll(marks, '$2')
  }
  return rest.replaceAll(/\ue000(\d+)\ue001/g, (_, index: string) => pieces[Number(index)] ?? '')
}

function brackets(text: string): string {
  return text.replaceAll(/<([^<>|]*)(?:\|([^<>]*))?>/g, (_, address: string, label: string | undefined) => {
    if (label !== undefined) return label
    return address.replace(/^!/, '@')
  })
}

function readEntities(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}

/** Owns the one page that setup shows in a browser, which loads nothing and runs nothing. */

import { hash } from 'node:crypto'

export interface Page {
  readonly title: string
  /** What happened and what to do, in one sentence or two. */
  readonly text: string
}

const style = [
  ':root{color-scheme:light dark}',
  'body{margin:0;min-height:100vh;display:grid;place-items:center;font:17px/1.5 system-ui,sans-serif;background:Canvas;color:CanvasText}',
  'main{max-width:26rem;padding:2rem}',
  'h1{font-size:1.5rem;line-height:1.25;margin:0 0 .5rem}',
  'p{margin:0}',
].join('')

export function renderPage({ title, text }: Page): string {
  return [
    '<!doctype html>',
    '<html lang="en">',
    `<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${quoted(title)}</title><style>${style}</style></head>`,
    `<body><main><h1>${quoted(title)}</h1><p>${quoted(text)}</p></main></body>`,
    '</html>',
    '',
  ].join('\n')
}

/** The address of the page holds a code, which is nobody else's business. */
export function pageHeaders(): Readonly<Record<string, string>> {
  const own = hash('sha256', style, 'base64')
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; style-src 'sha256-${own}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  }
}

function quoted(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`)
}

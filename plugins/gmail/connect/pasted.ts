/** Owns what a person pastes in place of the redirect: the address where the browser ended, or only the code in it. */

import { isCode, type Redirect, readRedirect } from './redirect.ts'

/** Whatever a terminal, a chat or a mail put around it is tolerated. */
export function readPasted(text: string, state: string): Redirect {
  const bare = text.replaceAll(/\s+/g, '').replaceAll(/^["'`<(“‘«]+|["'`>)”’»,;]+$/g, '')
  if (!/[?&]|:\/\/|^\w+=/.test(bare)) return ofCode(bare)
  const query = bare.replace(/^[^?]*\?/, '').replace(/#.*$/, '')
  return readRedirect(new URLSearchParams(query), state, false)
}

/** As it is in the address, or as the address means it. */
function ofCode(text: string): Redirect {
  const code = text.includes('%') ? new URLSearchParams(`code=${text}`).get('code') : text
  return isCode(code ?? undefined) ? { code: code as string } : { mistake: 'no-answer' }
}

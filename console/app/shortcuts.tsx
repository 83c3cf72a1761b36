/** The keyboard: one key or two, never while something is typed. Single keys can be switched off, as voice control may press them. */

import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { remember, remembered } from '../browser/remembered.ts'
import { go, goBack, hrefOf, path } from '../browser/router.ts'
import { session } from '../data/api.ts'
import { pressed } from '../parts/keys.ts'
import { sections } from './pages.ts'

const areOn = signal(remembered('shortcuts') !== 'off')

/** Milliseconds that `g` waits for its second key. */
const chordMs = 1_500

const shown: readonly (readonly [keys: string, what: string])[] = [
  ['/', 'search: paste any id'],
  ['?', 'this list'],
  ['Esc', 'close, leave a field, or go back to the list'],
  ['p', 'pause the live feed, or let it go on'],
  ['↓ ↑', 'the next and the previous row of a list'],
  ['Enter', 'open the row'],
  ['r', 'replay the open request'],
  ...sections.map(({ key, title }) => [`g ${key}`, `go to ${title}`] as const),
]

export function useShortcuts(): void {
  useEffect(() => {
    let chordUntil = 0
    function onKey(event: KeyboardEvent) {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      if (session.value === 'none' || document.querySelector(':popover-open') !== null) return
      const { key, target } = event
      if (isField(target)) {
        if (key === 'Escape' && target instanceof HTMLElement && !target.closest('.cm-editor')) target.blur()
        return
      }
      if (key === 'Escape') {
        leave(event)
        return
      }
      if ((key === 'ArrowDown' || key === 'ArrowUp') && isNothing(target) && pressed(key)) {
        event.preventDefault()
        return
      }
      if (!areOn.value) return
      if (event.timeStamp < chordUntil) {
        chordUntil = 0
        const section = sections.find((each) => each.key === key.toLowerCase())
        if (section === undefined) return
        event.preventDefault()
        go(hrefOf(section.path))
      } else if (key === 'g') chordUntil = event.timeStamp + chordMs
      else if (key === '?') document.querySelector<HTMLElement>(`#${helpId}`)?.showPopover()
      else if (key === '/') {
        event.preventDefault()
        openSearch()
      } else if (pressed(key)) event.preventDefault()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
}

/** A page that shows one record goes back to its list. */
function leave(event: Event): void {
  const [, list = '', one] = path.value.split('/')
  if (one === undefined) return
  event.preventDefault()
  goBack(list === 'requests' ? '/live' : list === 'events' ? '/runs' : `/${list}`)
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches(fields))
}

/** The page itself has the focus, and no control on it. */
function isNothing(target: EventTarget | null): boolean {
  return target === document.body || (target instanceof HTMLElement && target.id === 'main')
}

const fields = 'input:not([type=radio], [type=checkbox], [type=button]), textarea, select'

export const helpId = 'shortcuts'

/** On a phone there is no room for the field in the head of each page. */
export function openSearch(): void {
  const field = document.querySelector<HTMLInputElement>('#search')
  if (field?.checkVisibility()) {
    field.focus()
    field.select()
  } else go(hrefOf('/search'))
}

/** The browser opens it, puts the focus into it, and closes it with Escape or a press beside it. */
export function ShortcutsHelp() {
  return (
    <div popover="auto" role="dialog" id={helpId} class="card" aria-label="Keyboard">
      <h2>Keyboard</h2>
      <dl class="facts">
        {shown.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <label class="line">
        <input
          type="checkbox"
          autofocus
          checked={areOn.value}
          onChange={(event) => {
            areOn.value = event.currentTarget.checked
            remember('shortcuts', areOn.value ? 'on' : 'off')
          }}
        />
        Keys without Esc and arrows are on
      </label>
    </div>
  )
}

/** What is operated: buttons, fields, filters that live in the address, and buttons that send something to the gateway. */

import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { announce } from '../browser/announce.tsx'
import { setQuery } from '../browser/router.ts'
import { callApi, type Method, mayDo } from '../data/api.ts'
import { useSending } from '../data/load.ts'
import { Marked } from './marked.tsx'

/** `class` adds to its look: `primary`, `ghost`, `small`. */
export function Button({ class: more = '', ...props }: JSX.IntrinsicElements['button'] & { class?: string }) {
  return <button type="button" class={`button ${more}`} {...props} />
}

interface FieldProps {
  readonly label: string
  readonly name?: string
  readonly value: string
  readonly onText: (text: string) => void
  /** Values that are known. */
  readonly options?: readonly string[]
  readonly type?: 'text' | 'search'
  readonly placeholder?: string
  /** Several lines. */
  readonly rows?: number
  /** It takes the focus when it appears. */
  readonly isFocused?: boolean
}

const focus = (field: HTMLElement | null) => field?.focus()

/** For text that no browser may correct. */
export function Field({ label, onText, options = [], rows, type, isFocused, ...props }: FieldProps) {
  const id = useId()
  const shared = {
    ...props,
    id,
    ref: isFocused ? focus : undefined,
    spellcheck: false,
    autocapitalize: 'off',
    autocomplete: 'off',
    onInput: (event: { readonly currentTarget: { readonly value: string } }) =>
      onText(event.currentTarget.value),
  } as const
  return (
    <label class="field" for={id}>
      {label}
      {rows === undefined ? (
        <input type={type} list={`${id}-known`} {...shared} />
      ) : (
        <textarea rows={rows} {...shared} />
      )}
      {options.length > 0 && (
        <datalist id={`${id}-known`}>
          {options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
    </label>
  )
}

export type Choice = readonly [value: string, label: string, count?: number]

interface ChoicesProps {
  readonly name: string
  readonly label: string
  readonly value: string
  readonly choices: readonly Choice[]
}

/** A row of choices of which one holds. */
export function Choices({ name, label, value: chosen, choices }: ChoicesProps) {
  return (
    <fieldset class="choices">
      <legend class="visually-hidden">{label}</legend>
      {choices.map(([value, shown, count]) => (
        <label key={value} class="button small">
          <input
            type="radio"
            name={name}
            value={value}
            checked={value === chosen}
            onChange={() => setQuery({ [name]: value })}
          />
          {shown}
          {count !== undefined && <small>{count.toLocaleString('en')}</small>}
        </label>
      ))}
    </fieldset>
  )
}

const pauseMs = 300

type TextFilterProps = Pick<FieldProps, 'label' | 'value' | 'options'> & { readonly name: string }

/** A text to filter by, which is taken over when typing pauses. */
export function TextFilter({ name, value, ...props }: TextFilterProps) {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  useEffect(() => () => clearTimeout(timer.current), [])
  const take = (text: string) => {
    setTyped(text)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setQuery({ [name]: text.trim() }), pauseMs)
  }
  return <Field type="search" value={typed} onText={take} {...props} />
}

type Words = readonly [label: string, doneMessage: string, confirmation?: string]

/** Labels, announcements and confirmations of actions, by path. What cannot be undone is confirmed first. */
const words: Readonly<Record<string, Words>> = {
  '/runs/:id/resume': ['Resume', 'The run is queued again.'],
  '/runs/:id/retry': ['Retry', 'The run is queued again.'],
  '/runs/:id/cancel': ['Cancel', 'The run is cancelled.', 'Cancel this run?'],
  '/runs/retry': ['Retry the runs', 'Runs that could be retried are queued.', 'Run them again?'],
  '/runs/resume': ['Perform the parked runs', 'Runs that could be resumed are queued.', 'Perform them now?'],
  '/deliveries/:id/replay': ['Send again', 'The delivery is sent again.'],
  '/deliveries/replay': [
    'Send them again',
    'Messages that could be sent are on their way.',
    'Send them now?',
  ],
  '/deliveries': ['Send its text there', 'The text is sent.', 'Send it there? The parked delivery stays.'],
  '/route': ['Set where replies go', 'The route is set. Send the delivery again.'],
  '/requests/:id/replay': ['Replay it', 'It is replayed.', 'Replay it now?'],
  '/requests/replay': ['Replay them', 'The replay has begun.', 'Replay them now?'],
  '/requests/forget': [
    'Forget',
    'It is forgotten.',
    'Erase its body, headers, prompts and replies, and those of its replays? The record stays.',
  ],
  '/jobs/:id/cancel': ['Cancel', 'The job is cancelled.', 'Leave the rest as it is?'],
  '/issues/resolve': ['Resolve', 'Resolved.'],
  '/issues/mute': ['Mute', 'Muted.'],
  '/issues/reopen': ['Open again', 'It is open again.'],
  '/reload': ['Reload', 'The files were read again.', 'Read the files again now?'],
}
const idInPath = /\/[^/]*\d[^/]*(?=\/)/

interface ActionProps {
  readonly path: string
  readonly method?: Method
  readonly body?: unknown
  /** In place of the usual words of the path. */
  readonly words?: Words
  readonly onDone?: () => void
  /** Renders the answer next to the button. */
  readonly renderAnswer?: (answer: unknown) => ComponentChildren
  readonly isPrimary?: boolean
}

/** Sends a request to the gateway and reports the result. */
export function ActionButton({ path, method = 'POST', body, onDone, ...props }: ActionProps) {
  const { renderAnswer, isPrimary } = props
  const [label, doneMessage, confirmation] = props.words ??
    words[path.replace(idInPath, '/:id')] ?? ['Do it', 'Done.', 'Do it now?']
  const { isBusy, answer, error, send } = useSending<unknown>()
  const [isAsking, setAsking] = useState(false)
  const confirmButton = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (isAsking) confirmButton.current?.focus()
  }, [isAsking])

  async function act(): Promise<unknown> {
    setAsking(false)
    const answered = await callApi(method, path, { body })
    announce(doneMessage)
    onDone?.()
    return answered
  }

  if (!mayDo('operate')) return null
  if (isAsking) {
    return (
      <span class="line">
        <span>{confirmation}</span>
        <Button class="primary" ref={confirmButton} onClick={() => void send(act())}>
          {label}
        </Button>
        <Button class="ghost" onClick={() => setAsking(false)}>
          No
        </Button>
      </span>
    )
  }
  return (
    <span class="line">
      <Button
        class={isPrimary ? 'primary' : ''}
        aria-disabled={isBusy}
        onClick={() => {
          if (isBusy) return
          if (confirmation === undefined) void send(act())
          else setAsking(true)
        }}
      >
        {label}
      </Button>
      {answer !== undefined && renderAnswer?.(answer)}
      {error !== undefined && (
        <span class="note tone-bad" role="alert">
          <Marked text={error.message} />
        </span>
      )}
    </span>
  )
}

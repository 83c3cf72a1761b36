/** Filters that live in the address, so that a filtered list can be sent to a colleague. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { setQuery } from '../browser/router.ts'
import { Field } from './button.tsx'

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
        <label key={value} class="choice">
          <input
            type="radio"
            name={name}
            value={value}
            checked={value === chosen}
            onChange={() => setQuery({ [name]: value, cursor: undefined })}
          />
          <span>
            {shown}
            {count !== undefined && <span class="count">{count.toLocaleString('en')}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  )
}

const pauseMs = 300

interface TextFilterProps {
  readonly name: string
  readonly label: string
  readonly value: string
  /** Values that are known. */
  readonly options?: readonly string[]
}

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

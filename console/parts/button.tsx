/** A button, and a field with its label. */

import type { JSX } from 'preact'
import { useId } from 'preact/hooks'

/** `class` adds to its look: `primary`, `ghost`, `small`. */
export function Button({ class: more = '', ...props }: JSX.IntrinsicElements['button'] & { class?: string }) {
  return <button type="button" class={`button ${more}`} {...props} />
}

interface FieldProps {
  readonly label: string
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

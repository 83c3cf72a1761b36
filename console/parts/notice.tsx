/** Notices that replace a list or a record while it is loading, empty or failed. */

import type { ComponentChildren } from 'preact'
import type { ApiError, FieldError } from '../data/api.ts'
import type { Loaded, LoadedList } from '../data/load.ts'
import { Button } from './controls.tsx'
import { Code, Marked } from './marked.tsx'

export function Loading({ label }: { readonly label: string }) {
  return <p class="notice card quiet">Loading {label} …</p>
}

interface LoadedViewProps<Answer> {
  readonly loaded: Loaded<Answer>
  /** Completes "Loading …", such as `the run`. */
  readonly label: string
  readonly children: (answer: Answer) => ComponentChildren
}

/** Shows the loaded data, that it is loading, or why that failed. */
export function LoadedView<Answer>({ loaded, label, children }: LoadedViewProps<Answer>) {
  const { data, error, reload } = loaded
  return (
    <>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {data === undefined && error === undefined && <Loading label={label} />}
      {data !== undefined && children(data)}
    </>
  )
}

/** The way to older items, where there are some. */
export function More({ list, label }: { readonly list: LoadedList<unknown>; readonly label: string }) {
  return (
    list.loadMore && (
      <Button class="wide" onClick={list.loadMore}>
        {label}
      </Button>
    )
  )
}

interface EmptyProps {
  readonly title: string
  readonly children?: ComponentChildren
}

export function Empty({ title, children }: EmptyProps) {
  return (
    <div class="notice card">
      <b>{title}</b>
      {children !== undefined && <div class="quiet">{children}</div>}
    </div>
  )
}

export function Problem({ error, retry }: { readonly error: ApiError; readonly retry?: () => void }) {
  return (
    <div class="notice card note tone-bad" role="alert">
      <b>
        <Marked text={error.message} />
      </b>
      <FieldErrors errors={error.details} />
      <p class="quiet">
        {[error.code, error.requestId && `request ${error.requestId}`].filter(Boolean).join(' · ')}
      </p>
      {retry !== undefined && <Button onClick={retry}>Try again</Button>}
    </div>
  )
}

/** What is wrong with which field, a line each. */
export function FieldErrors({ errors }: { readonly errors: readonly FieldError[] }) {
  if (errors.length === 0) return null
  return (
    <ul>
      {errors.map(({ pointer, message }, index) => (
        <li key={index}>
          <Code text={pointer} /> <Marked text={message} />
        </li>
      ))}
    </ul>
  )
}

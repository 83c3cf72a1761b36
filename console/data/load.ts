/** Reads an answer for a component, again when what it depends on changes, and keeps the last one while the next is under way. */

import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, get, getText, type Query } from './api.ts'
import { onFrame } from './stream.ts'
import type { Frame, Page } from './types.ts'

export interface Loaded<Answer> {
  readonly data: Answer | undefined
  readonly error: ApiError | undefined
  readonly isLoading: boolean
  /** Reads it again; what is shown stays until the answer is there. */
  readonly reload: () => void
}

interface State<Answer> {
  readonly key?: string
  readonly data?: Answer
  readonly error?: ApiError
  readonly isLoading: boolean
}

/** `key` stands for what is read; undefined: nothing is. */
function useRead<Answer>(
  key: string | undefined,
  read: (signal: AbortSignal) => Promise<Answer>,
): Loaded<Answer> {
  const [state, setState] = useState<State<Answer>>({ isLoading: true })
  const [revision, setRevision] = useState(0)
  useEffect(() => {
    if (key === undefined) {
      setState({ isLoading: false })
      return
    }
    const leaving = new AbortController()
    setState((last) => (last.key === key ? { ...last, isLoading: true } : { key, isLoading: true }))
    read(leaving.signal).then(
      (data) => setState({ key, data, isLoading: false }),
      (error: unknown) => {
        if (leaving.signal.aborted) return
        setState((last) => ({ ...last, key, error: asApiError(error), isLoading: false }))
      },
    )
    return () => leaving.abort()
  }, [key, revision])
  const reload = useCallback(() => setRevision((last) => last + 1), [])
  const { data, error, isLoading } =
    state.key === key ? state : { ...state, data: undefined, error: undefined }
  return { data, error, isLoading: isLoading || state.key !== key, reload }
}

/** `path` undefined: nothing is read. */
export function useLoaded<Answer>(path: string | undefined, query?: Query): Loaded<Answer> {
  const key = path && JSON.stringify([path, query])
  return useRead(key, (signal) => get<Answer>(path ?? '', query, signal))
}

const maxShownBytes = 262_144

/** Reads something that is shown as text, whatever it holds. `isCut`: only its beginning. */
export const useText = (path: string | undefined) =>
  useRead(path, (signal) => getText(path ?? '', maxShownBytes, signal))

export interface LoadedList<Item> extends Loaded<readonly Item[]> {
  /** Reads the next page of older items; absent where there is none. */
  readonly loadMore: (() => void) | undefined
}

/** A list with its pages. A reload begins with the first page again. */
export function useLoadedList<Item>(path: string, query: Query = {}): LoadedList<Item> {
  const first = useLoaded<Page<Item>>(path, query)
  const [more, setMore] = useState<{
    first?: Page<Item>
    items: readonly Item[]
    next?: string
    error?: ApiError
  }>({
    items: [],
  })
  const isMoreOfFirst = more.first !== undefined && more.first === first.data
  const items = first.data && (isMoreOfFirst ? [...first.data.items, ...more.items] : first.data.items)
  const next = isMoreOfFirst ? more.next : first.data?.next
  const page = first.data
  const loadMore =
    next === undefined || page === undefined
      ? undefined
      : () => {
          get<Page<Item>>(path, { ...query, cursor: next }).then(
            (answer) =>
              setMore((last) => ({
                first: page,
                items: [...(last.first === page ? last.items : []), ...answer.items],
                next: answer.next,
              })),
            (error: unknown) => setMore((last) => ({ ...last, error: asApiError(error) })),
          )
        }
  return { ...first, data: items, error: first.error ?? (isMoreOfFirst ? more.error : undefined), loadMore }
}

/** Calls back with each frame while the component is shown. */
export function useFrames(listener: (frame: Frame | 'gap') => void): void {
  const newest = useRef(listener)
  newest.current = listener
  useEffect(() => onFrame((frame) => newest.current(frame)), [])
}

/** Reads again when a frame concerns the component, and not more often than `reloadPauseMs`. */
export function useReloadOn(concerns: (frame: Frame) => boolean, reload: () => void): void {
  const waiting = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(waiting.current), [])
  useFrames((frame) => {
    if (waiting.current !== undefined || (frame !== 'gap' && frame.partial !== true && !concerns(frame)))
      return
    waiting.current = setTimeout(() => {
      waiting.current = undefined
      reload()
    }, reloadPauseMs)
  })
}

const reloadPauseMs = 600

/** Calls back at these intervals while the page is looked at. `ms` undefined: not at all. */
export function useEvery(ms: number | undefined, act: () => void): void {
  useEffect(() => {
    if (ms === undefined) return
    const timer = setInterval(() => document.hidden || act(), ms)
    return () => clearInterval(timer)
  }, [ms, act])
}

export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  return new ApiError(0, {
    error: error instanceof Error ? error.message : 'Something failed.',
    code: 'UNEXPECTED',
  })
}

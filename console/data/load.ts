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

/** `path` undefined: nothing is read. */
export function useLoaded<Answer>(path: string | undefined, query?: Query): Loaded<Answer> {
  const key = path === undefined ? undefined : JSON.stringify([path, query])
  const [state, setState] = useState<{ key?: string; data?: Answer; error?: ApiError; isLoading: boolean }>({
    isLoading: true,
  })
  const [turn, setTurn] = useState(0)
  // `key` stands for path and query, and `turn` for a reload.
  useEffect(() => {
    if (path === undefined) {
      setState({ isLoading: false })
      return
    }
    const leaving = new AbortController()
    setState((last) => (last.key === key ? { ...last, isLoading: true } : { key, isLoading: true }))
    get<Answer>(path, query, leaving.signal).then(
      (data) => setState({ key, data, isLoading: false }),
      (error: unknown) => {
        if (leaving.signal.aborted) return
        setState((last) => ({ ...last, key, error: asApiError(error), isLoading: false }))
      },
    )
    return () => leaving.abort()
  }, [key, turn])
  const reload = useCallback(() => setTurn((last) => last + 1), [])
  const isOfKey = state.key === key
  return {
    data: isOfKey ? state.data : undefined,
    error: isOfKey ? state.error : undefined,
    isLoading: state.isLoading || !isOfKey,
    reload,
  }
}

export interface LoadedList<Item> extends Loaded<readonly Item[]> {
  /** Reads the next page of older items; absent where there is none. */
  readonly loadMore: (() => void) | undefined
}

/** A list with its pages. A reload begins with the first page again. */
export function useLoadedList<Item>(path: string, query: Query = {}): LoadedList<Item> {
  const first = useLoaded<Page<Item>>(path, query)
  const [more, setMore] = useState<{
    of?: Page<Item>
    items: readonly Item[]
    next?: string
    error?: ApiError
  }>({
    items: [],
  })
  const isMoreOfFirst = more.of !== undefined && more.of === first.data
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
                of: page,
                items: [...(last.of === page ? last.items : []), ...answer.items],
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

export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  return new ApiError(0, {
    error: error instanceof Error ? error.message : 'Something failed.',
    code: 'UNEXPECTED',
  })
}

const maxShownBytes = 262_144

export interface LoadedText {
  readonly text: string | undefined
  /** Only the beginning is shown. */
  readonly isCut: boolean
  readonly error: ApiError | undefined
  readonly reload: () => void
}

/** Reads something that is shown as text, whatever it holds. */
export function useText(path: string | undefined): LoadedText {
  const [state, setState] = useState<{ of?: string; text?: string; isCut?: boolean; error?: ApiError }>({})
  const [turn, setTurn] = useState(0)
  // `turn` stands for a reload.
  useEffect(() => {
    if (path === undefined) return
    const leaving = new AbortController()
    getText(path, maxShownBytes, leaving.signal).then(
      (read) => setState({ of: path, ...read }),
      (error: unknown) => {
        if (!leaving.signal.aborted) setState({ of: path, error: asApiError(error) })
      },
    )
    return () => leaving.abort()
  }, [path, turn])
  const isOfPath = state.of === path
  return {
    text: isOfPath ? state.text : undefined,
    isCut: isOfPath && state.isCut === true,
    error: isOfPath ? state.error : undefined,
    reload: () => setTurn((last) => last + 1),
  }
}

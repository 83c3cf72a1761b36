/** Reads an answer for a component, again when what it depends on changes, and keeps the last one while the next is under way. */

import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, get, getText, type Query } from './api.ts'
import { onFrame } from './stream.ts'
import type { Frame, Page } from './types.ts'

export interface Loaded<Answer> {
  readonly data?: Answer | undefined
  readonly error?: ApiError | undefined
  /** Reads it again; what is shown stays until the answer is there. */
  readonly reload: () => void
}

/** `key` stands for what is read; undefined: nothing is. */
export function useRead<Answer>(
  key: string | undefined,
  read: (signal: AbortSignal) => Promise<Answer>,
): Loaded<Answer> {
  const [{ of, ...state }, setState] = useState<Omit<Loaded<Answer>, 'reload'> & { readonly of?: string }>({})
  const [revision, setRevision] = useState(0)
  const reload = useCallback(() => setRevision((last) => last + 1), [])
  useEffect(() => {
    if (key === undefined) return
    const leaving = new AbortController()
    read(leaving.signal).then(
      (data) => leaving.signal.aborted || setState({ of: key, data }),
      (cause: unknown) => {
        if (leaving.signal.aborted) return
        setState((last) => ({ ...(last.of === key && last), of: key, error: asApiError(cause) }))
      },
    )
    return () => leaving.abort()
  }, [key, revision])
  return { ...(of === key && state), reload }
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

/** Items of lists are known by one of these. */
export interface Listed {
  readonly id?: string
  readonly key?: string
  readonly at?: number
}

export const keyOf = ({ id, key, at }: Listed) => id ?? key ?? at

interface Pages<Item> extends Page<Item> {
  readonly key: string
  /** The newest first page. */
  readonly first: Page<Item>
  /** Why the next page could not be read. */
  readonly error?: ApiError | undefined
}

/** A list that has grown longer begins again with its first page. */
const maxItems = 2_000

/** A list with its pages. A reload reads the first page again, and what was read below it stays. */
export function useLoadedList<Item extends Listed>(path: string, query: Query = {}): LoadedList<Item> {
  const { data: first, error, reload } = useLoaded<Page<Item>>(path, query)
  const [, setRevision] = useState(0)
  const pages = useRef<Pages<Item> | undefined>(undefined)
  const key = JSON.stringify([path, query])
  if (first !== undefined && pages.current?.first !== first) {
    const { items = [], next } = pages.current?.key === key ? pages.current : {}
    const older = first.next === undefined || items.length > maxItems ? [] : itemsAfter(first.items, items)
    const all = [...first.items, ...older]
    pages.current = { key, first, items: all, next: older.length > 0 ? next : first.next }
  }
  const shown = pages.current?.key === key ? pages.current : undefined
  const cursor = shown?.next
  async function loadMore() {
    const read = await get<Page<Item>>(path, { ...query, cursor }).catch(asApiError)
    const list = pages.current
    // A list that began again meanwhile goes on elsewhere.
    if (list === undefined || list.next !== cursor) return
    pages.current =
      read instanceof ApiError
        ? { ...list, error: read }
        : { ...list, items: [...list.items, ...read.items], next: read.next, error: undefined }
    setRevision((last) => last + 1)
  }
  return {
    data: shown?.items,
    error: error ?? shown?.error,
    reload,
    loadMore: cursor === undefined ? undefined : () => void loadMore(),
  }
}

/** Items of `older` that follow the last one of `newer`. None where that is not among them, as there may be others between. */
function itemsAfter<Item extends Listed>(newer: readonly Item[], older: readonly Item[]): readonly Item[] {
  const last = newer.at(-1)
  const at = last === undefined ? -1 : older.findIndex((item) => keyOf(item) === keyOf(last))
  return at < 0 ? [] : older.slice(at + 1)
}

interface Sending<Answer> {
  readonly isBusy: boolean
  /** The last answer; it stays while the next is under way. */
  readonly answer?: Answer
  readonly error?: ApiError
}

/** Sends what changes something. `send` resolves with the answer, and with undefined where there is an error. */
export function useSending<Answer>() {
  const [state, setState] = useState<Sending<Answer>>({ isBusy: false })
  async function send(request: Promise<Answer>): Promise<Answer | undefined> {
    setState(({ error: _error, ...last }) => ({ ...last, isBusy: true }))
    try {
      const answer = await request
      setState({ isBusy: false, answer })
      return answer
    } catch (cause) {
      setState((last) => ({ ...last, isBusy: false, error: asApiError(cause) }))
      return undefined
    }
  }
  return { ...state, send }
}

/** Reads again when a frame concerns the component, and not more often than `pauseMs`. */
export function useReloadOn(concerns: (frame: Frame) => boolean, reload: () => void, pauseMs = 600): void {
  const newest = useRef({ concerns, reload })
  newest.current = { concerns, reload }
  useEffect(() => {
    let waiting: ReturnType<typeof setTimeout> | undefined
    let last = 0
    const act = () => {
      waiting = undefined
      last = performance.now()
      newest.current.reload()
    }
    const stop = onFrame((frame) => {
      if (waiting !== undefined) return
      if (frame === 'gap' || frame.partial === true || newest.current.concerns(frame))
        waiting = setTimeout(act, last + pauseMs - performance.now())
    })
    return () => {
      stop()
      clearTimeout(waiting)
    }
  }, [])
}

/** Calls back at these intervals while the page is looked at. `ms` undefined: not at all. */
export function useEvery(ms: number | undefined, act: () => void): void {
  useEffect(() => {
    if (ms === undefined) return
    const timer = setInterval(() => document.hidden || act(), ms)
    return () => clearInterval(timer)
  }, [ms, act])
}

function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  return new ApiError(0, {
    error: error instanceof Error ? error.message : 'Something failed.',
    code: 'UNEXPECTED',
  })
}

/** The editor of payloads and mappings: CodeMirror with the extensions that both need. Only the playground loads it. */

import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { json, jsonParseLinter } from '@codemirror/lang-json'
import { yaml } from '@codemirror/lang-yaml'
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { type Diagnostic, linter, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint'
import { search, searchKeymap } from '@codemirror/search'
import { EditorState, type Extension } from '@codemirror/state'
import { drawSelection, EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks'
import { completeMapping, type KnownFields } from './mapping-completion.ts'

/** A place in the text. Line and column count from 1. */
interface Place {
  readonly line: number
  readonly column: number
}

/** A message about the text. Without a place it is not shown here. */
interface Message {
  readonly severity: 'error' | 'warning'
  readonly message: string
  readonly place?: Place
}

interface CodeEditorProps {
  readonly label: string
  readonly text: string
  readonly onChange: (text: string) => void
  /** For mappings: what is completed. For payloads it is absent. */
  readonly known?: () => KnownFields
  readonly messages?: readonly Message[]
  /** Puts the cursor at a place whenever this is another object. */
  readonly goTo?: Place | undefined
}

export function CodeEditor(props: CodeEditorProps) {
  const { label, text, messages, goTo } = props
  const name = useId()
  const hint = useId()
  const place = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const newest = useRef(props)
  newest.current = props
  useLayoutEffect(() => {
    const { known, ...given } = newest.current
    const extensions = [
      shared,
      EditorView.contentAttributes.of({ 'aria-labelledby': name, 'aria-describedby': hint }),
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged) newest.current.onChange(state.doc.toString())
      }),
      known === undefined ? forPayloads : forMappings(() => newest.current.known?.() ?? known()),
    ]
    const made = new EditorView({ parent: place.current ?? undefined, doc: given.text, extensions })
    view.current = made
    return () => made.destroy()
  }, [])
  // Nothing is typed between drawing and this, so that a text that differs was loaded.
  useLayoutEffect(() => {
    const { doc } = view.current?.state ?? {}
    if (doc?.toString() !== text)
      view.current?.dispatch({ changes: { from: 0, to: doc?.length, insert: text } })
  }, [text])
  useEffect(() => {
    const { current } = view
    if (current === undefined || messages === undefined) return
    const diagnostics = messages.flatMap((message) => diagnosticOf(message, current.state))
    current.dispatch(setDiagnostics(current.state, diagnostics))
  }, [messages])
  useEffect(() => {
    if (goTo === undefined || view.current === undefined) return
    const { from, to } = lineAt(view.current.state, goTo.line)
    view.current.dispatch({
      selection: { anchor: Math.min(from + goTo.column - 1, to) },
      scrollIntoView: true,
    })
    view.current.focus()
  }, [goTo])
  return (
    <div>
      <b id={name}>{label}</b>
      <div class="visually-hidden" id={hint}>
        Tab indents. Press Escape and then Tab to leave the editor.
      </div>
      <div class="code-editor-place" ref={place} data-editor={props.known === undefined ? 'json' : 'yaml'} />
      <small class="quiet" aria-hidden="true">
        Esc, then Tab leaves the editor
      </small>
    </div>
  )
}

/**
 * CodeMirror lets Tab leave for two seconds after Escape, which is too short for many, and not where Escape has closed a list. It may
 * leave until something else is done with the editor.
 */
function letTabLeave(event: KeyboardEvent, view: EditorView): void {
  // Other effects of Escape come first.
  if (event.key === 'Escape') queueMicrotask(() => view.setTabFocusMode(3_600_000))
}

function lineAt(state: EditorState, line: number) {
  return state.doc.line(Math.max(1, Math.min(line, state.doc.lines)))
}

/** Marks from the place to the end of its word. */
function diagnosticOf({ place, severity, message }: Message, state: EditorState): Diagnostic[] {
  if (place === undefined) return []
  const { from: start, to: end, text } = lineAt(state, place.line)
  const from = Math.min(start + place.column - 1, end)
  const word = /^(?:[\w.-]+|\S)/.exec(text.slice(from - start))?.[0].length ?? 0
  return [{ from, to: Math.min(from + word, end), severity, message }]
}

/** A payload may also be a form or a text, so what is no JSON is a warning. */
const forPayloads: Extension = [
  json(),
  linter((view) =>
    view.state.doc.length === 0
      ? []
      : jsonParseLinter()(view).map((diagnostic) => ({ ...diagnostic, severity: 'warning' as const })),
  ),
]

function forMappings(known: () => KnownFields): Extension {
  return [yaml(), autocompletion({ override: [completeMapping(known)], icons: false })]
}

/** Those that CodeMirror does not show by itself: isolates, blank letters, and characters that join. */
const invisible = /[\u2060-\u206f\u115f\u1160\u3164\uffa0\u180e\u{e0001}-\u{e007f}]/u

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.string, tags.content], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword, tags.atom], color: 'var(--busy)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--quiet)', fontStyle: 'italic' },
  { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: 'var(--quiet)' },
  { tag: [tags.labelName, tags.typeName], color: 'var(--busy)' },
])

const theme = EditorView.theme({
  '&': {
    backgroundColor: 'var(--surface)',
    color: 'var(--ink)',
    border: '1px solid var(--line)',
    borderRadius: 'var(--radius)',
    fontSize: 'var(--typed)',
    height: '100%',
  },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--ink)', minHeight: '8em' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)', borderLeftWidth: '2px' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--selection)',
  },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--quiet)', border: 'none' },
  '.cm-gutter-lint': { width: '0.9em' },
  '.cm-gutter-lint .cm-gutterElement': { padding: '0' },
  '.cm-specialChar': { color: 'var(--bad)', border: '1px solid currentColor', borderRadius: '3px' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': {
    backgroundColor: 'var(--selection)',
    outline: '1px solid var(--line-strong)',
  },
  '.cm-tooltip, .cm-panels': {
    backgroundColor: 'var(--surface)',
    color: 'var(--ink)',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '14em' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '4px 8px', lineHeight: '1.4' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent)',
    color: 'var(--accent-ink)',
  },
  '.cm-completionDetail': { fontStyle: 'normal', opacity: '0.75', marginLeft: '1em' },
  '.cm-completionInfo': { padding: '6px 10px', maxWidth: '22em', fontFamily: 'var(--sans)' },
  '.cm-panel input, .cm-panel button': { font: 'inherit', color: 'inherit' },
  '.cm-textfield': { backgroundColor: 'var(--surface)', border: '1px solid var(--line-strong)' },
  '.cm-button': {
    backgroundColor: 'var(--sunk)',
    backgroundImage: 'none',
    border: '1px solid var(--line-strong)',
  },
  '.cm-diagnostic': { fontFamily: 'var(--sans)', padding: '4px 8px' },
})

const shared: Extension = [
  // The nonce of the content security policy of this page, for the styles that CodeMirror adds while it runs.
  EditorView.cspNonce.of(document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? ''),
  theme,
  syntaxHighlighting(colours),
  lineNumbers(),
  history(),
  drawSelection(),
  highlightSpecialChars({ addSpecialChars: invisible }),
  indentOnInput(),
  bracketMatching(),
  closeBrackets(),
  search({ top: true }),
  lintGutter(),
  EditorState.tabSize.of(2),
  EditorView.lineWrapping,
  EditorView.contentAttributes.of({
    autocapitalize: 'off',
    autocorrect: 'off',
    spellcheck: 'false',
    // It can be focused anyway, which tools that look for what scrolls do not see.
    tabindex: '0',
  }),
  keymap.of([
    ...closeBracketsKeymap,
    ...completionKeymap,
    ...searchKeymap,
    ...lintKeymap,
    ...historyKeymap,
    ...defaultKeymap,
    indentWithTab,
  ]),
  EditorView.domEventObservers({
    keydown: letTabLeave,
    blur: (_event, blurred) => blurred.setTabFocusMode(false),
  }),
]

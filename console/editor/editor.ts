/**
 * The editor of payloads and mappings: CodeMirror with the few extensions that both need. It is a chunk of its own, which only the
 * playground loads.
 */

import {
  autocompletion,
  type CompletionSource,
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
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import { drawSelection, EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { completeMapping, type KnownFields } from './mapping-completion.ts'

export type { KnownFields } from './mapping-completion.ts'

export interface EditorOptions {
  readonly parent: HTMLElement
  readonly language: 'yaml' | 'json'
  readonly text: string
  /** The ids of the elements that name and describe it. */
  readonly labelledBy: string
  readonly describedBy: string
  readonly nonce: string
  readonly isDark: boolean
  readonly onChange: (text: string) => void
  /** For mappings: what is completed. */
  readonly known?: () => KnownFields
}

/** A message at a place of the text. Line and column count from 1. */
export interface Message {
  readonly line: number
  readonly column: number
  readonly severity: 'error' | 'warning'
  readonly text: string
}

export interface Editor {
  text(): string
  setText(text: string): void
  setDark(isDark: boolean): void
  setMessages(messages: readonly Message[]): void
  /** Puts the cursor at a place, and the focus into the editor. */
  goTo(line: number, column: number): void
  close(): void
}

export function createEditor(options: EditorOptions): Editor {
  const { parent, language, nonce, labelledBy, describedBy, known, onChange } = options
  const look = new Compartment()
  /** True while the program makes a change, so that it is not reported. */
  let isSetting = false

  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        EditorView.cspNonce.of(nonce),
        look.of(EditorView.darkTheme.of(options.isDark)),
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
          'aria-labelledby': labelledBy,
          'aria-describedby': describedBy,
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
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged && !isSetting) onChange(state.doc.toString())
        }),
        ...(language === 'json' ? forPayloads : forMappings(known)),
      ],
    }),
  })

  return {
    text: () => view.state.doc.toString(),
    setText(text) {
      if (text === view.state.doc.toString()) return
      isSetting = true
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } })
      isSetting = false
    },
    setDark: (isDark) => view.dispatch({ effects: look.reconfigure(EditorView.darkTheme.of(isDark)) }),
    setMessages: (messages) =>
      view.dispatch(
        setDiagnostics(
          view.state,
          messages.map((message) => diagnosticOf(message, view.state)),
        ),
      ),
    goTo(line, column) {
      const { from, to } = lineAt(view.state, line)
      view.dispatch({ selection: { anchor: Math.min(from + column - 1, to) }, scrollIntoView: true })
      view.focus()
    },
    close: () => view.destroy(),
  }
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
function diagnosticOf({ line, column, severity, text }: Message, state: EditorState): Diagnostic {
  const { from: start, to: end, text: content } = lineAt(state, line)
  const from = Math.min(start + column - 1, end)
  const word = /^(?:[\w.-]+|\S)/.exec(content.slice(from - start))?.[0].length ?? 0
  return { from, to: Math.min(from + word, end), severity, message: text }
}

/** A payload may also be a form or a text, so what is no JSON is a warning. */
const forPayloads: Extension[] = [
  json(),
  linter((view) =>
    view.state.doc.length === 0
      ? []
      : jsonParseLinter()(view).map((diagnostic) => ({ ...diagnostic, severity: 'warning' as const })),
  ),
]

function forMappings(known: EditorOptions['known']): Extension[] {
  const source: CompletionSource = completeMapping(
    known ?? (() => ({ paths: [], headers: {}, endpoints: [] })),
  )
  return [yaml(), autocompletion({ override: [source], icons: false })]
}

/** Those that CodeMirror does not show by itself: isolates, blank letters, and characters that join. */
const invisible = /[\u2060-\u206f\u115f\u1160\u3164\uffa0\u180e\u{e0001}-\u{e007f}]/u

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--code-key)' },
  { tag: [tags.string, tags.content], color: 'var(--code-text)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword, tags.atom], color: 'var(--code-value)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--code-comment)', fontStyle: 'italic' },
  { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: 'var(--quiet)' },
  { tag: [tags.labelName, tags.typeName], color: 'var(--code-value)' },
])

const theme = EditorView.theme({
  '&': {
    backgroundColor: 'var(--surface)',
    color: 'var(--ink)',
    border: '1px solid var(--line)',
    borderRadius: 'var(--radius)',
    fontSize: 'var(--code-size, 0.875rem)',
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
  '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--warn)' },
})

/** The drawings of the console. They say nothing to screen readers: the words beside them do. */

const drawings = {
  live: 'M3 12h4l3-8 4 16 3-8h4',
  issues: 'M12 3 2.5 20h19zM12 10v4.500M12 17.2v.1',
  runs: 'M7 4.500v15l12-7.500z',
  playground: 'M9 3h6M10 3v6.500L4.5 19a1.5 1.5 0 0 0 1.3 2h12.4a1.5 1.5 0 0 0 1.3-2L14 9.500V3M7.5 15h9',
  changes: 'M6 3.500v17M6 7h6a4 4 0 0 1 4 4v2M13 10.500l3 3 3-3M6 17.500h12',
  health: 'M12 20s-8-4.7-8-10.500A4.5 4.5 0 0 1 12 7a4.5 4.5 0 0 1 8 2.500C20 15.300 12 20 12 20z',
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM15.5 15.5 21 21',
  pause: 'M8 5v14M16 5v14',
  play: 'M7 4.500v15l12-7.500z',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M5 12.500l4.5 4.500L19 7.5',
  back: 'M15 5l-7 7 7 7',
  system: 'M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18',
  light:
    'M12 16.500a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM12 2v2.500M12 19.500V22M2 12h2.500M19.5 12H22M5 5l1.7 1.7M17.300 17.300 19 19M5 19l1.7-1.7M17.300 6.700 19 5',
  dark: 'M20 14.500A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.500z',
  replay: 'M4 12a8 8 0 1 0 2.5-5.800M4 4v4.500h4.5',
  download: 'M12 3v12M7 10.500l5 5 5-5M4 20.500h16',
} as const

type IconName = keyof typeof drawings

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={drawings[name]} />
    </svg>
  )
}

/** The sun that rises behind the name. */
export function Logo() {
  return (
    <svg width="30" height="30" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="7" fill="#1d2440" />
      <path fill="#f0813c" d="M9.5 22a6.5 6.5 0 0 1 13 0" />
      <g fill="none" stroke="#f3b562" stroke-width="2.4" stroke-linecap="round">
        <path d="M5 22h22M16 6v4.500M7 10l3 3M25 10l-3 3" />
      </g>
    </svg>
  )
}

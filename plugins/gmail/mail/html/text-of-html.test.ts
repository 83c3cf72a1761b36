import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cleanText } from '../text/clean.ts'
import { type Budget, decodeEntities, textOfHtml } from './text-of-html.ts'

const plenty = (): Budget => ({ characters: 100_000, steps: 10_000 })
const textOf = (html: string) => cleanText(textOfHtml(html, plenty()).text, 1)

/** The HTML and the text that it becomes. */
const readings: Readonly<Record<string, readonly (readonly [html: string, text: string])[]>> = {
  'paragraphs, headings and lines are apart, and white space is what it is on a page': [
    [
      '<h1>Hello   Ada</h1><p>one\n  two<br>three</p><div>four</div>five',
      'Hello Ada\n\none two\nthree\n\nfour\nfive',
    ],
    ['<P>one<p>two</P></div></p>three', 'one\n\ntwo\n\nthree'],
    ['so<b>me</b> <i>words</i>&nbsp;&nbsp;&amp; &lt;b&gt; &#8364; &eacute;', 'some words & <b> € é'],
    ['<pre>if {\n    x\n}</pre>', 'if {\n    x\n}'],
    ['a<hr>b', 'a\n\n---\n\nb'],
  ],
  'a link is its text and its address, once where they are the same': [
    ['<a href="https://a.example/x?y=1&amp;z=2">here</a>.', 'here [https://a.example/x?y=1&z=2].'],
    ['<a href="https://a.example/">https://a.example</a>', 'https://a.example'],
    ['<a href=https://a.example>a.example</a>', 'a.example'],
    [
      '<a href="mailto:ada@example.com">ada@example.com</a> <a href="mailto:bo@example.com">Bo</a>',
      'ada@example.com Bo [bo@example.com]',
    ],
    [
      '<a href="https://a.example/"><img src="x.png" alt="The &lt;shop&gt;"></a>',
      'The <shop> [https://a.example/]',
    ],
    ['<a href="https://a.example/"><img src="x.png"></a>', ''],
    [
      '<a href="#top">Top</a> <a href="javascript:steal()">x</a> <a name="y">y</a> <a href="cid:1">z</a>',
      'Top x y z',
    ],
    [
      '<a href="https://a.example">one <a href="https://b.example">two</a>',
      'one [https://a.example] two [https://b.example]',
    ],
    [
      '<a href="https://a.example">one<table><td><a href="https://b.example">two</a></table></a>',
      'one [https://a.example]\ntwo [https://b.example]',
    ],
    [`<a href="https://a.example/${'t'.repeat(600)}">x</a>`, `x [https://a.example/${'t'.repeat(102)}…]`],
  ],
  'pictures are no text': [['a<img src="https://t.example/p.gif" alt="pixel">b', 'ab']],
  'lists have marks and numbers': [
    ['<ul><li>one<li>two</ul>', '- one\n- two'],
    ['<ol start="3"><li>a</li><li>b</li></ol>', '3. a\n4. b'],
    ['<ol type="i" start="1e308"><li>a</li></ol>', '1. a'],
    ['<li>a<li>b', 'a\nb'],
  ],
  'quotes are marked': [
    ['a<blockquote>b<br>c<blockquote>d</blockquote></blockquote>', 'a\n\n> b\n> c\n>\n> > d'],
  ],
  'a row of a table is a line, whether it is data or layout': [
    [
      '<table><tr><th>Item<th>Price<tr><td>Tea<td>4.00<tr><td>Milk</td><td>1.20</td></table>',
      'Item | Price\nTea | 4.00\nMilk | 1.20',
    ],
    ['<table><tr><td></td><td>&nbsp;</td><td>Our news</td></tr></table>', 'Our news'],
    ['<table><tr><td><p>left</p></td><td><p>right</p></td></tr></table>', 'left\n\nright'],
    ['<table><tr><td><table><tr><td>a<td>b</table><td>c</table>', 'a | b\nc'],
    ['<blockquote><table><tr><td>a<td>b</table></blockquote>', '> a | b'],
  ],
  'styles, scripts, titles and comments are no text': [
    ['<html><head><title>News</title><style>a > b { content: "<p>" }</style></head><body>x', 'x'],
    ['a<script>if (1 < 2) document.write("<p>b</p>")</script><SCRIPT >x</script >c', 'ac'],
    ['a<!-- <p>b --><!--[if mso]><p>c</p><![endif]--><![if !mso]>d<![endif]><?xml e?></3>f', 'adf'],
    ['a<!-->b<!--->c', 'abc'],
    ['a<svg><text>b</text></svg><template><p>c</p></template>d', 'ad'],
    ['a<style>never closed <p>b', 'a'],
  ],
  'what an element hides by itself is left out, and nothing beyond it': [
    ['<div style="display:none">Preview <b>of</b><div>it</div></div>shown', 'shown'],
    ['<div style="color:red; DISPLAY : None !important">a</div>b', 'b'],
    [
      '<span style="visibility:hidden">a</span><i style="max-height:0px;overflow:hidden">b</i><b style="opacity:0">c</b>d',
      'd',
    ],
    ['<span style="mso-hide:all">a</span><u hidden>b</u>c', 'c'],
    [
      '<p style="max-height:0.5em">a</p><p style="opacity:0.9">b</p><td style="font-size:0px">c',
      'a\n\nb\n\nc',
    ],
    ['<p hidden>a<p>b', 'b'],
    ['<p hidden>a<p hidden>b<p style="display:none">c<p>d', 'd'],
    ['<table><tr><td hidden>a<td>b<tr><td>c</table>', 'b\nc'],
    ['<ul><li hidden>a<ul><li>b</ul><li>c</ul>', '- c'],
    ['<div><span hidden>a</div>b', 'b'],
    ['<img style="display:none">a<br hidden>b', 'a\nb'],
  ],
  'what is no tag is text': [
    ['5 < 6 and 7 > 3 <3 a<', '5 < 6 and 7 > 3 <3 a<'],
    ['a &lt;script&gt; b &am<b></b>p; c', 'a <script> b &amp; c'],
  ],
  'a tag ends where its attributes do': [
    ['<p title="a > b" alt=\'"\'>c</p>', 'c'],
    ['<p/>a</p>b', 'a\n\nb'],
    ['a<p title="never closed>b</p>', 'a'],
    ['a<p', 'a'],
  ],
}

for (const [name, pairs] of Object.entries(readings)) {
  test(name, () => {
    for (const [html, text] of pairs) assert.equal(textOf(html), text, html)
  })
}

test('content that is nested deep keeps its text, with the marks of five levels', () => {
  const depth = 500
  assert.equal(textOf(`${'<div>'.repeat(depth)}a<p>b<table>c${'</div>'.repeat(depth)}d`), 'a\n\nb\n\nc\nd')
  assert.match(textOf(`${'<blockquote>'.repeat(depth)}a<br>b`), /^(?:> ){5}a\n(?:> ){5}b$/)
  assert.equal(textOf(`${'<ul><li>'.repeat(depth)}a<br>b`), '- - - - - a\n          b')
  assert.equal(textOfHtml(`${'<div>'.repeat(50_000)}a`, plenty()).isCut, true)
})

test('each kind of budget ends the reading, and the result says that it is cut', () => {
  const html = '<p>one two</p><p>three</p>'
  assert.deepEqual(textOfHtml(html, plenty()), { text: 'one two\n\nthree', isCut: false })
  assert.deepEqual(textOfHtml(html, { ...plenty(), characters: 5 }), { text: 'one t', isCut: true })
  assert.deepEqual(textOfHtml(html, { ...plenty(), characters: 9 }), { text: 'one two\n\nth', isCut: true })
  assert.deepEqual(textOfHtml(html, { ...plenty(), steps: 3 }), { text: 'one two', isCut: true })
  assert.deepEqual(textOfHtml(html, { ...plenty(), steps: 2 }), { text: '', isCut: true })
})

test('one budget is shared by several texts', () => {
  const budget = { ...plenty(), steps: 3 }
  assert.equal(textOfHtml('<p>a</p>', budget).isCut, false)
  assert.equal(textOfHtml('<p>b</p>', budget).isCut, true)
})

test('entities are decoded, and text that looks like a tag stays', () => {
  assert.equal(decodeEntities('It&#39;s &lt;b&gt; &amp;amp; 1 < 2 <b>'), "It's <b> &amp; 1 < 2 <b>")
})

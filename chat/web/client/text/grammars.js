// Languages of code blocks as data: what begins a comment, what quotes, which words belong to the language.

/**
 * @typedef {object} Grammar
 * @property {string[]} names In code blocks.
 * @property {string[]} [line] What begins a comment to the end of the line.
 * @property {[string, string][]} [block] What begins and ends a comment.
 * @property {string[]} [quotes] What begins and ends a string; those of three characters go over lines.
 * @property {string} [words] The language's own words.
 */

const C_LIKE = { line: ["//"], block: /** @type {[string, string][]} */ ([["/*", "*/"]]) };
const C_WORDS =
  "auto break case char const continue default do double else enum extern float for goto if inline int long register " +
  "return short signed sizeof static struct switch typedef union unsigned void volatile while";

/** @type {readonly Grammar[]} */
export const GRAMMARS = [
  {
    names: ["python", "py"],
    line: ["#"],
    quotes: ['"""', "'''", '"', "'"],
    words:
      "and as assert async await break case class continue def del elif else except False finally for from global if " +
      "import in is lambda match None nonlocal not or pass raise return True try while with yield",
  },
  {
    names: ["javascript", "js", "jsx", "typescript", "ts", "tsx"],
    ...C_LIKE,
    quotes: ['"', "'", "`"],
    words:
      "abstract as async await break case catch class const continue default delete do else enum export " +
      "extends false finally for from function get if implements import in instanceof interface let new null of " +
      "private protected public readonly return set static super switch this throw true try type typeof undefined " +
      "var void while with yield",
  },
  { names: ["json"], quotes: ['"'], words: "true false null" },
  { names: ["html", "xml", "svg"], block: [["<!--", "-->"]], quotes: ['"', "'"] },
  { names: ["css", "scss"], block: [["/*", "*/"]], quotes: ['"', "'"], words: "important media import supports layer" },
  {
    names: ["bash", "sh", "shell", "zsh", "console"],
    line: ["#"],
    quotes: ['"', "'"],
    words: "case do done elif else esac exit export fi for function if in local return set then until while",
  },
  {
    names: ["sql"],
    line: ["--"],
    block: [["/*", "*/"]],
    quotes: ["'", '"'],
    words:
      "ADD ALTER AND AS ASC BEGIN BETWEEN BY CASE COMMIT CREATE DELETE DESC DISTINCT DROP ELSE END EXISTS FROM FULL " +
      "GROUP HAVING IN INDEX INNER INSERT INTO IS JOIN KEY LEFT LIKE LIMIT NOT NULL ON OR ORDER OUTER PRIMARY " +
      "REFERENCES RIGHT ROLLBACK SELECT SET TABLE THEN UNION UNIQUE UPDATE VALUES VIEW WHEN WHERE WITH",
  },
  {
    names: ["rust", "rs"],
    ...C_LIKE,
    quotes: ['"'],
    words:
      "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod " +
      "move mut pub ref return self Self static struct super trait true type unsafe use where while",
  },
  {
    names: ["go", "golang"],
    ...C_LIKE,
    quotes: ['"', "`", "'"],
    words:
      "break case chan const continue default defer else fallthrough false for func go goto if import interface map " +
      "nil package range return select struct switch true type var",
  },
  { names: ["c", "h"], ...C_LIKE, quotes: ['"', "'"], words: C_WORDS },
  {
    names: ["cpp", "c++", "cc", "hpp"],
    ...C_LIKE,
    quotes: ['"', "'"],
    words:
      `${C_WORDS} bool catch class constexpr delete explicit false friend mutable namespace new noexcept nullptr ` +
      "operator override private protected public template this throw true try typename using virtual",
  },
  {
    names: ["java", "kotlin", "kt"],
    ...C_LIKE,
    quotes: ['"', "'"],
    words:
      "abstract boolean break byte case catch char class const continue default do double else enum extends false " +
      "final finally float for fun if implements import instanceof int interface long native new null object " +
      "override package private protected public return short static super switch synchronized this throw throws " +
      "true try val var void volatile when while",
  },
  { names: ["yaml", "yml", "toml", "ini"], line: ["#"], quotes: ['"', "'"], words: "true false null yes no" },
];

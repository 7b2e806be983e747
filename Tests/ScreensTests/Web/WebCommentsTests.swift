import Foundation
import Testing

@testable import Screens

@Suite struct WebCommentsTests {
    @Test(
        "Lines of comments become empty, all others lose their indentation only",
        arguments: [
            ("// a\nb // c\n  // d\n", "\nb // c\n\n"),
            ("/** a\n * b; */\nc /* d */\n", "\n\nc /* d */\n"),
            ("/* a */\n  /* b\n\n  c */\nd\n", "\n\n\n\nd\n"),
            ("a\n\n  '//'  \n*/\n", "a\n\n'//'  \n*/\n"), ("  \n\ta\n", "\n\ta\n"),
            ("", ""), ("//", ""), ("a\n// b", "a\n"), ("/* a", ""), ("// é\né", "\né"),
        ]
    )
    func lines(text: String, rest: String) {
        #expect(String(decoding: WebComments.removed(from: Data(text.utf8)), as: UTF8.self) == rest)
    }

    @Test(
        "A style sheet keeps the white space that has a meaning",
        arguments: [
            (
                ".a  .b,\n.c :is(.d, e) {\n  f: g h;\n}\n\n@media (i: j) and (k: l) { m { n: calc(1px + 2px); } }\n",
                ".a .b,.c :is(.d,e){f:g h;}@media (i:j) and (k:l){m{n:calc(1px + 2px);}}"
            ),
            ("a::before { content: \" · \"; }", "a::before{content:\" · \";}"), ("", ""), (" ", ""),
            ("a { b: \"c;  d \\\" { e\"; f: ', g' }", "a{b:\"c;  d \\\" { e\";f:', g'}"),
        ]
    )
    func spaces(sheet: String, rest: String) {
        #expect(String(decoding: WebComments.withoutSpaces(Data(sheet.utf8)), as: UTF8.self) == rest)
    }

    @Test("In the files, nothing that looks like a comment of its own is in a string, and none is followed by code")
    func files() {
        for (name, bytes) in WebAssets.embeddedFiles() where name.hasSuffix(".js") || name.hasSuffix(".css") {
            let text = String(decoding: bytes, as: UTF8.self)
            for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                let isOpen = line.count { $0 == "`" } % 2 == 1 || line.contains(#/^\s*\/\*.*\*\/\s*\S|\\$/#)
                #expect(!isOpen, "\(name):\(number + 1)")
            }
            let rest = String(decoding: WebComments.removed(from: bytes), as: UTF8.self)
            #expect(rest.count { $0 == "\n" } == text.count { $0 == "\n" } && !rest.contains(#/(?m)^ *(\/\/|\/\*)/#))
        }
    }
}

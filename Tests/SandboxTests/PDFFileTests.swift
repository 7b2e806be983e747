import Testing

@testable import Sandbox

@Suite struct PDFFileTests {
    @Test("a PDF's table leads to every object, and it has the pages that it says")
    func pdf() throws {
        let bytes = PDFFile.encode(pages: [["one (1)", "back\\slash"], ["two"]])
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.hasPrefix("%PDF-1.4\n") && text.hasSuffix("%%EOF\n") && text.contains("/Count 2"))
        let table = try #require(text.firstMatch(of: /startxref\n(\d+)\n/).flatMap { Int($0.1) })
        #expect(String(decoding: bytes[table..<table + 4], as: UTF8.self) == "xref")
        let places = text.matches(of: /(\d{10}) 00000 n \n/).compactMap { Int($0.1) }
        #expect(places.count == 7)
        for (index, place) in places.enumerated() {
            #expect(String(decoding: bytes[place..<place + 7], as: UTF8.self) == "\(index + 1) 0 obj")
        }
        for match in text.matches(of: /\/Length (\d+) >>\nstream\n(.*)\nendstream/) {
            #expect(Int(match.1) == match.2.utf8.count)
        }
        #expect(text.contains(#"(one \(1\)) Tj"#) && text.contains(#"(back\\slash) Tj"#))
    }
}

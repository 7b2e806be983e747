import Foundation
import HTTPTypes
import Testing

@testable import Storage

@Suite struct FieldCodingTests {
    @Test("Long values and empty ones come back", arguments: [0, 1, 127, 128, 16_383, 16_384, 70_000])
    func lengths(count: Int) {
        let fields: HTTPFields = [.eTag: String(repeating: "v", count: count), .accept: ""]
        #expect(FieldCoding.decode(FieldCoding.encode(fields)) == fields)
    }

    @Test("Bytes that were cut off or changed are refused or read as other fields, but never beyond their end")
    func damaged() {
        let bytes = FieldCoding.encode([.eTag: String(repeating: "v", count: 300), .accept: "*/*"])
        #expect(FieldCoding.decode(bytes.dropLast()) == nil)
        for position in bytes.indices {
            let prefix = FieldCoding.decode(bytes.prefix(position))
            #expect(prefix == nil || prefix?.isEmpty == true || prefix?.count == 1)
            for value: UInt8 in [0, 0x7F, 0x80, 0xFF] {
                var changed = bytes
                changed[position] = value
                #expect((FieldCoding.decode(changed)?.count ?? 0) <= 150)
            }
        }
        #expect(FieldCoding.decode(Data(repeating: 0xFF, count: 30)) == nil)
    }

    @Test("Fields written in another order or case have one canonical form; the order of one name's values counts")
    func canonicalForm() throws {
        let upper = try #require(HTTPField.Name("ACCEPT"))
        func form(_ fields: [HTTPField]) -> Data {
            FieldCoding.encode(FieldCoding.canonicalForm(of: HTTPFields(fields)))
        }
        let a = HTTPField(name: .accept, value: "a")
        let b = HTTPField(name: .accept, value: "b")
        let language = HTTPField(name: .acceptLanguage, value: "de")
        #expect(form([a, language]) == form([language, HTTPField(name: upper, value: "a")]))
        #expect(form([a, b]) != form([b, a]))
    }
}

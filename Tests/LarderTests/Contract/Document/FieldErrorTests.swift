import Foundation
import TestKit
import Testing

@Suite("Codes of errors in fields")
struct FieldErrorTests {
    /// A field error in the sources: the place, then its code, or two of them with a condition.
    private static var pattern: Regex<(Substring, Substring, Substring?)> {
        get throws {
            try Regex(
                #"\.(?:field|parameter)\(\s*(?:"(?:[^"\\]|\\.)*"|\w+),\s*"#
                    + #"(?:[^",()]*\? *)?"([a-z-]+)"(?: *: *"([a-z-]+)")?,"#
            )
        }
    }

    @Test("SRV-02 every code that a field error of the sources has is in the contract")
    func codes() throws {
        let pattern = try Self.pattern
        var used: [String: String] = [:]
        for file in Repository.files(in: "Sources", suffixes: [".swift"]) {
            for match in try Repository.text("Sources/\(file)").matches(of: pattern) {
                for code in [match.output.1, match.output.2] {
                    if let code { used[String(code)] = file }
                }
            }
        }
        let codes = try OpenAPIDocument.load().root.at(pointer: "/components/schemas/FieldError/properties/code/enum")
        let known = Set((codes?.array ?? []).compactMap(\.string))
        #expect(used.count > 8 && known.isSuperset(of: ["list-full", "not-the-list"]))
        for (code, file) in used { #expect(known.contains(code), "\(code) in \(file)") }
    }
}

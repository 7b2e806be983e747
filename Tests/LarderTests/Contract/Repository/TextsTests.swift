import Testing

@Suite("Texts for users") struct TextsTests {
    /// The parameters that take a text for users.
    private static let places = ["title: \"", "message: \"", "text: \"", "button: \"", "buttons: [\""]

    /// Returns the lines that show a text without a translation: an empty one, and marks such as − need none.
    private static func untranslated(_ source: String) -> [Substring] {
        source.split(separator: "\n").filter { line in
            places.contains { place in
                guard let range = line.firstRange(of: place) else { return false }
                return line[range.upperBound...].prefix { $0 != "\"" }.contains { $0.isLetter }
            }
        }
    }

    @Test("HARN-30 Texts of screens are in the tables of their app, which have both languages")
    func screens() throws {
        let files = Repository.files(in: "Sources/Apps", suffixes: [".swift"])
        #expect(files.count > 100 && files.filter { $0.hasSuffix("Texts.swift") }.count >= 5)
        // An app's description names upstreams for operators, its model has no texts for users.
        let screens = files.filter { !$0.hasSuffix("Texts.swift") && !$0.contains("App") && !$0.contains("/Model/") }
        #expect(screens.contains { $0.hasPrefix("Ships/") } && screens.contains { $0.hasPrefix("Notes/") })
        for file in screens {
            let lines = Self.untranslated(try Repository.text("Sources/Apps/\(file)"))
            #expect(lines == [], "\(file)")
        }
    }

    @Test("A text that several apps have is one, in the table that they share")
    func shared() throws {
        let files = Repository.files(in: "Sources", suffixes: ["Texts.swift"])
        var homes: [String: Set<String>] = [:]
        for file in files {
            for found in try Repository.text("Sources/\(file)").matches(of: /Text\(\s*"[^"]*",\s*ru: "[^"]*"\s*\)/) {
                let text = found.output.filter { !$0.isWhitespace }
                homes[text, default: []].insert(String(file.split(separator: "/").dropLast().joined(separator: "/")))
            }
        }
        #expect(homes.count > 200)
        for (text, tables) in homes { #expect(tables.count == 1, "\(text): \(tables.sorted())") }
    }

    @Test("A text without a translation is found")
    func planted() {
        #expect(Self.untranslated(#"EmptyState(title: "Nothing", text: "")"#).count == 1)
        #expect(Self.untranslated(#"EmptyState(title: .nothing, text: "", button: "−")"#) == [])
    }
}

import Testing

/// A reset of the harness calls the composition root again. Values of static variables would survive it.
@Suite struct StaticStateTests {
    /// Variables whose values do not depend on the state of the server, by file and name.
    private static let harmless: Set = [
        // The statement that a thread runs at this moment.
        "Sources/Kit/Storage/Database/ReaderConnections.swift running",
        // The files that are made of nothing but their description.
        "Sources/Sandbox/Files/MadeFile.swift made",
        // Bytes that are computed when they are read.
        "Sources/Sandbox/YandexDisk/Data/DiskContent.swift endless",
    ]

    /// Returns the static state of files: `path name`.
    private static func state(in files: [(path: String, text: String)]) -> Set<String> {
        let variable = #/^\s*(?:\w+(?:\(\w+\))? )*static var (?<name>\w+)[^{]*=/#
        let constant = #/^\s*(?:\w+ )*static let (?<name>\w+)(?:: \[?(?<type>[A-Z]\w+))?/#
        let made = #/ = (?:try )?(?<type>[A-Z]\w+)(?:<.*>)?\(/#
        let declaration = #/^\s*(?:\w+ )*(?:class|actor) (?<name>[A-Z]\w+)/#
        // Few lines are looked at closely: the expressions take their time.
        let sources = files.map { file in
            let parts = ["static ", "class ", "actor "]
            let lines = file.text.split(separator: "\n").filter { line in parts.contains(where: line.contains) }
            return (path: file.path, lines: lines)
        }
        let classes = Set(
            sources.flatMap(\.lines).compactMap { line in
                (try? declaration.prefixMatch(in: line)).map { String($0.name) }
            }
        ).union(["Mutex", "Atomic", "NIOLockedValueBox"])
        var found: Set<String> = []
        for source in sources {
            for line in source.lines where line.contains("static ") {
                // Computed ones have a brace and no value.
                if let match = try? variable.prefixMatch(in: line), !line.contains("@TaskLocal") {
                    found.insert("\(source.path) \(match.name)")
                }
                guard let match = try? constant.prefixMatch(in: line) else { continue }
                let value = (try? made.firstMatch(in: line)).flatMap { $0?.type }
                let types = [match.type, value].compactMap { $0.map(String.init) }
                if types.contains(where: classes.contains) { found.insert("\(source.path) \(match.name)") }
            }
        }
        return found
    }

    @Test("HARN-01 no state is in static variables, where a reset would not reach it")
    func none() throws {
        let folders = ["Sources/Kit", "Sources/Apps", "Sources/Larder", "Sources/Sandbox"]
        let files = try folders.flatMap { folder in
            try Repository.files(in: folder, suffixes: [".swift"]).map { name in
                (path: "\(folder)/\(name)", text: try Repository.text("\(folder)/\(name)"))
            }
        }
        #expect(files.count > 200)
        #expect(Self.state(in: files) == Self.harmless)
    }

    @Test("State in static variables is found by its type")
    func planted() {
        let text = """
            package final class Store: Sendable {}
            enum Hidden {
                static let kept = Store()
                private static let table: Mutex<[Int: Int]> = Mutex([:])
                nonisolated(unsafe) static var count = 0
                static var computed: Int { 1 }
                static let text = "Store()"
                @TaskLocal static var current: Int?
            }
            """
        #expect(Self.state(in: [("a", text)]) == ["a kept", "a table", "a count"])
    }
}

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

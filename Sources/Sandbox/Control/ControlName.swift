/// A name that a test author chooses for a space or a snapshot; it is a part of paths.
enum ControlName {
    /// Returns the name.
    /// - Throws: ``ControlProblem`` if it may not be one.
    static func checked(_ name: String) throws(ControlProblem) -> String {
        let isName =
            (1...64).contains(name.utf8.count) && name.first != "."
            && name.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                    || [0x2D, 0x2E, 0x5F].contains($0)
            }
        guard isName else {
            let accepted = "1…64 of A-Z a-z 0-9 - _ ., the first one no dot"
            throw .invalid(field: "name", value: String(name.prefix(64)), accepted: [accepted])
        }
        return name
    }
}

import Screens

extension ScreenRequest {
    /// Returns the note that the path names.
    ///
    /// - Throws: ``Problem``, 404 if the name is not one of a note.
    func noteID() throws -> (row: Int64, identity: String) {
        let identity = try parameter("id")
        guard let row = Note.row(of: identity) else { throw Problem.noNote(identity) }
        return (row, identity)
    }
}

extension Problem {
    /// The account has no note of that name.
    static func noNote(_ identity: String) -> Problem { .notFound(.noNote(identity)) }
}

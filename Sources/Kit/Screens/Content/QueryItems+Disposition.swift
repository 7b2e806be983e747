extension QueryItems {
    /// Returns whether a browser is to show a file or to save it, if the client says so: `disposition`.
    ///
    /// - Throws: 400 if it is another word.
    func disposition() throws -> FileContent.Disposition? {
        guard let text = try string("disposition") else { return nil }
        guard let disposition = FileContent.Disposition(rawValue: text) else {
            throw Problem.invalidParameter("disposition", accepted: "accepts inline or attachment")
        }
        return disposition
    }
}

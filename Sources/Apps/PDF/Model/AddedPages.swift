/// The pages that a change has added to a document.
struct AddedPages: Sendable, Equatable {
    /// Their ids, in order.
    var ids: [String]
    /// Characters of a text that no installed font has.
    var missingCharacters: [String] = []
    /// What the user should know of the files.
    var notices: [FileNotice] = []
}

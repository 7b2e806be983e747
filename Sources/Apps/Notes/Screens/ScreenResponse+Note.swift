import Freshness
import HTTPSemantics
import HTTPTypes
import Screens

extension ScreenResponse {
    /// Returns a note as its own screen, with its version in the entity tag. The response to a write carries the tag
    /// that a GET of the same address would have (RFC 9110 §8.8).
    ///
    /// - Throws: `EncodingError`.
    static func note(_ note: Note, _ time: NoteTime, self link: Link, status: HTTPResponse.Status = .ok) throws
        -> ScreenResponse
    {
        let meta = Meta(screen: "notes.details", provenance: .local, revision: note.revision)
        var response = try ScreenResponse.local(NoteDetailsScreen(note, time), meta, Links(self: link), status: status)
        response.version = String(note.revision)
        if case .bytes(let bytes, _) = response.body {
            response.headerFields[.eTag] = EntityTag.strong(for: bytes, version: String(note.revision))
        }
        return response
    }
}

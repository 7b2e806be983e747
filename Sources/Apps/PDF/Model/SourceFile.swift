import Database
import Foundation

/// A file that pages are made of.
struct SourceFile: Sendable {
    /// Its name, or its position, for messages.
    let title: String
    /// The name that the client gave it.
    let fileName: String?
    let format: SourceFormat
    let place: TemporaryPath

    var url: URL { URL(filePath: place.path) }
}

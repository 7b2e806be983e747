import Concurrency
import Foundation
import HTTP
import Media
import Screens

/// Small pictures of uploads that wait: the API does not have them yet, so they are made here.
struct QueuedPictures: Sendable {
    let lender: FileLender
    /// Makes pictures; nil to disable that.
    let media: MediaEngine?
    let clock: WallClock

    /// Returns a small picture of a file; the placeholder if there is none of it.
    ///
    /// - Throws: `StorageError`, `CancellationError`.
    func picture(of item: DiskItem, _ size: PreviewSize, _ account: String, _ request: ScreenRequest) async throws
        -> ScreenResponse
    {
        guard let media, item.viewer == .image,
            let stored = try await lender.files.open(.content, of: item, account: account)
        else { return .placeholder() }
        let (width, height) = size.pixels
        do {
            let picture = try await lender.withFile(stored.body) { file in
                try await request.whileClientWaits {
                    try await media.pictures.scale(.file(file), width: width, height: height)
                }
            }
            guard let type = PictureType(of: picture.data) else { return .placeholder() }
            return .picture(picture.data, type: type, provenance: .local, now: clock.now())
        } catch is MediaError {
            return .placeholder()
        }
    }
}

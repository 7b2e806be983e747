import Screens

extension PDFApp {
    /// The limits of the app: the settings `pdf.*` and those of Media.
    package struct Options: Sendable {
        /// Files of one upload, and so of one document.
        package var maximumFiles: Int
        /// Bytes of one file.
        package var maximumFileBytes: Int
        /// Bytes of a whole upload.
        package var maximumUploadBytes: Int
        /// Pages of one document.
        package var maximumPages: Int
        /// Bytes of one text, in UTF-8.
        package var maximumTextBytes: Int
        /// Largest width of a page's thumbnail, in pixels.
        package var maximumWidth: Int
        /// Bytes of all stored thumbnails together.
        package var thumbnailBytes: Int
        /// Time from a draft's last change until it is removed.
        package var draftLifetime: Duration
        /// How long deleted documents stay in the trash; zero deletes them at once.
        package var trashLifetime: Duration

        /// Whether photos keep their metadata: time, camera, position of the photographer.
        package var keepsMetadata: Bool
        /// Bytes that the documents of a profile may take.
        package var quotaBytes: Int

        /// Creates options; the defaults are those of the settings `pdf.*`.
        package init(
            maximumFiles: Int = 200,
            maximumFileBytes: Int = 100 << 20,
            maximumUploadBytes: Int = 500 << 20,
            maximumPages: Int = 5000,
            maximumTextBytes: Int = 1 << 20,
            maximumWidth: Int = 2000,
            thumbnailBytes: Int = 64 << 20,
            draftLifetime: Duration = .seconds(86400),
            trashLifetime: Duration = .seconds(30 * 86_400),
            keepsMetadata: Bool = false,
            quotaBytes: Int = 10_240 << 20
        ) {
            self.maximumFiles = maximumFiles
            self.maximumFileBytes = maximumFileBytes
            self.maximumUploadBytes = maximumUploadBytes
            self.maximumPages = maximumPages
            self.maximumTextBytes = maximumTextBytes
            self.maximumWidth = maximumWidth
            self.thumbnailBytes = thumbnailBytes
            self.draftLifetime = draftLifetime
            self.trashLifetime = trashLifetime
            self.keepsMetadata = keepsMetadata
            self.quotaBytes = quotaBytes
        }

        /// Returns what a profile may store.
        func quota(of profile: String) -> StorageQuota { StorageQuota(bytes: quotaBytes, of: .profile(profile)) }

        /// Largest body with a text as JSON: every byte may be escaped as `\u00XX`.
        var textBodyBytes: Int { maximumTextBytes * 6 + 4096 }
        /// Largest body with a list of all pages: an id has 16 characters.
        var pageListBytes: Int { maximumPages * 24 + 4096 }
    }
}

package import Media
import Screens
package import Settings

extension PDFApp {
    /// The limits of the app: its settings, and those that bound all work on pictures and documents.
    package struct Limits: Sendable {
        private let settings: SettingValues
        private let media: MediaLimits

        package init(_ settings: SettingValues, _ media: MediaLimits) {
            (self.settings, self.media) = (settings, media)
        }

        /// Files of one upload, and so of one document.
        var maximumFiles: Int { settings[PDFApp.files] }
        /// Bytes of one file.
        var maximumFileBytes: Int { max(media.pictureBytes, media.pdfBytes) }
        /// Bytes of a whole upload.
        var maximumUploadBytes: Int { settings[PDFApp.uploadBytes] }
        /// Pages of one document.
        var maximumPages: Int { media.pdfPages }
        /// Bytes of one text, in UTF-8.
        var maximumTextBytes: Int { media.textBytes }
        /// Largest width of a page's thumbnail, in pixels.
        var maximumWidth: Int { min(2000, media.pageWidth) }
        /// Bytes of all stored thumbnails together.
        var thumbnailBytes: Int { settings[PDFApp.thumbnailBytes] }
        /// Time from a draft's last change until it is removed.
        var draftLifetime: Duration { settings[PDFApp.draftLifetime] }
        /// How long deleted documents stay in the trash; zero deletes them at once.
        var trashLifetime: Duration { settings[PDFApp.trashLifetime] }
        /// Whether photos keep their metadata: time, camera, position of the photographer.
        var keepsMetadata: Bool { settings[PDFApp.keepsMetadata] }

        /// Returns what a profile may store.
        func quota(of profile: String) -> StorageQuota {
            StorageQuota(bytes: settings[PDFApp.quota], of: .profile(profile))
        }

        /// Largest body with a text as JSON: every byte may be escaped as `\u00XX`.
        var textBodyBytes: Int { maximumTextBytes * 6 + 4096 }
        /// Largest body with a list of all pages: an id has 16 characters.
        var pageListBytes: Int { maximumPages * 24 + 4096 }
    }
}

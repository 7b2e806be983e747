import Foundation

/// The pages of the onboarding, in their order.
enum OnboardingPage: String, CaseIterable, Sendable {
    case documents, offline, sharing

    /// The line of the page.
    var text: String {
        switch self {
        case .documents: "All your documents are now in one place"
        case .offline: "Access your files without the Internet"
        case .sharing: "Share your files with others"
        }
    }

    /// The picture of the page, a PNG of 480 by 480 pixels.
    var picture: Data {
        switch self {
        case .documents: Data(PackageResources.onboarding_documents_png)
        case .offline: Data(PackageResources.onboarding_offline_png)
        case .sharing: Data(PackageResources.onboarding_sharing_png)
        }
    }
}

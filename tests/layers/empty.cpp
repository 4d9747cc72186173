// SPDX-License-Identifier: Apache-2.0
// All of the program is the library that is linked to it.
int main() { return 0; }
